// Keyboard shortcuts of a trial: previous, next, reasoning, back.

const go = (id) => document.getElementById(id)?.click();

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  switch (event.key) {
    case "j":
    case "ArrowRight":
      go("next");
      break;
    case "k":
    case "ArrowLeft":
      go("previous");
      break;
    case "u":
      go("back");
      break;
    case "r":
      for (const thought of document.querySelectorAll(".thought details")) thought.open = !thought.open;
      break;
    default:
  }
});
