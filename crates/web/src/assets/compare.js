// Optional: submits forms on change, and moves through the matrix with the arrow keys.

for (const id of ["choose", "two"]) {
  const form = document.getElementById(id);
  form?.addEventListener("change", (event) => {
    // Checkboxes wait for the button, so that several models can be selected.
    if (event.target.matches("select, input[type=radio]")) form.requestSubmit();
  });
}

document.getElementById("two-apply")?.setAttribute("hidden", "");

const matrix = document.getElementById("matrix");
const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
matrix?.addEventListener("keydown", (event) => {
  const [down, right] = steps[event.key] ?? [0, 0];
  let cell = event.target.closest("td.heat");
  if (!cell || !(down || right) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  // Skip cells without a link, such as the diagonal.
  do {
    const row = matrix.tBodies[0].rows[cell.parentElement.sectionRowIndex + down];
    cell = row?.cells[cell.cellIndex + right];
  } while (cell?.matches(".heat") && !cell.querySelector("a"));
  cell?.querySelector(".heat a")?.focus();
});

// A click on a row follows its link.
document.querySelector("#pair ~ .differ .list tbody")?.addEventListener("click", (event) => {
  if (event.target.closest("a") || getSelection()?.toString()) return;
  event.target.closest("tr")?.querySelector("a")?.click();
});
