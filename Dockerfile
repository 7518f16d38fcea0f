# docker build -t reasonscape . && docker run --rm -v "$PWD:/work" reasonscape demo
FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked && cp target/release/reasonscape /usr/local/bin/reasonscape

FROM debian:bookworm-slim
# The certificates of the authorities that cloud providers are signed by.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin/reasonscape /usr/local/bin/reasonscape
# A study is a folder of the host, mounted here; what is written there belongs to nobody in particular.
RUN useradd --create-home --uid 1000 reasonscape && mkdir /work && chown reasonscape /work
USER reasonscape
WORKDIR /work
EXPOSE 8050
ENTRYPOINT ["reasonscape"]
CMD ["--help"]
