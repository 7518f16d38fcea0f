// Optional: filters and sorts without the button or a page load.

const form = document.getElementById("choose");
if (form) {
  document.getElementById("apply").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}

const board = document.getElementById("board");
// The column that is sorted alphabetically.
const NAME = 1;
if (board) {
  const headings = [...board.tHead.querySelectorAll("th")];
  const body = board.tBodies[0];

  const compare = (column, rises) => (a, b) => {
    const [x, y] = [a, b].map((row) => row.cells[column].dataset.v);
    const [isMissing, isOtherMissing] = [x, y].map((value) => value === "" || value === "none");
    // Rows without a value come last in both directions.
    if (isMissing || isOtherMissing) return isMissing - isOtherMissing;
    const order = column === NAME ? x.localeCompare(y, "en", { sensitivity: "base" }) : Number(x) - Number(y);
    return rises ? order : -order;
  };

  const sort = (heading) => {
    const column = heading.cellIndex;
    const sorted = heading.getAttribute("aria-sort");
    const rises = sorted ? sorted === "descending" : heading.dataset.rises === "true";
    const byRank = compare(0, true);
    const by = compare(column, rises);
    body.append(...[...body.rows].sort((a, b) => by(a, b) || byRank(a, b)));
    const here = new URL(heading.querySelector("a").href);
    here.searchParams.set("dir", rises ? "asc" : "desc");
    history.replaceState(null, "", here);
    for (const other of headings) {
      const isSorted = other === heading;
      if (isSorted) other.setAttribute("aria-sort", rises ? "ascending" : "descending");
      else other.removeAttribute("aria-sort");
      const link = other.querySelector("a");
      const address = new URL(link.href);
      const next = isSorted ? !rises : other.dataset.rises === "true";
      address.searchParams.set("dir", next ? "asc" : "desc");
      link.href = address.href;
    }
    if (form) {
      form.elements.sort.value = here.searchParams.get("sort");
      form.elements.dir.value = here.searchParams.get("dir");
    }
  };

  board.tHead.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    sort(link.closest("th"));
  });
}
