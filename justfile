# Everything that CI checks, as CI checks it.
check:
    bash .ci/run

# Measures the program beside its peers and prints the ratios.
bench *what:
    bash benches/compare {{ what }}
