// Keyboard shortcuts of a list: j and k select a row, the arrows change the page.

const links = [...document.querySelectorAll(".list tbody a")];

const choose = (step) => {
  const at = links.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
  links[Math.min(Math.max(next, 0), links.length - 1)]?.focus();
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, button")) return;
  switch (event.key) {
    case "j":
    case "ArrowDown":
      choose(1);
      break;
    case "k":
    case "ArrowUp":
      choose(-1);
      break;
    case "ArrowLeft":
      document.querySelector("a[rel=prev]")?.click();
      break;
    case "ArrowRight":
      document.querySelector("a[rel=next]")?.click();
      break;
    default:
      return;
  }
  event.preventDefault();
});

// A click on a row follows its link.
document.querySelector(".list tbody")?.addEventListener("click", (event) => {
  if (event.target.closest("a") || getSelection()?.toString()) return;
  event.target.closest("tr")?.querySelector("a")?.click();
});
