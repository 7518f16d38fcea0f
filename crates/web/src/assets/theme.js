// Colours: as the system has them, or as the reader chose. It runs before the page is drawn, so that nothing flashes.
{
  const key = "reasonscape-theme";
  const names = { auto: "as the system has them", light: "light", dark: "dark" };
  const signs = { auto: "◐", light: "☀", dark: "☾" };
  const order = ["auto", "light", "dark"];

  const stored = () => {
    try {
      const theme = localStorage.getItem(key);
      return order.includes(theme) ? theme : "auto";
    } catch {
      return "auto"; // Storage may be switched off.
    }
  };

  const show = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    button.textContent = signs[theme];
    button.setAttribute("aria-label", `Colours: ${names[theme]}`);
    button.title = `Colours: ${names[theme]}`;
  };

  show(stored());
  addEventListener("DOMContentLoaded", () => {
    let theme = stored();
    show(theme);
    document.getElementById("theme")?.addEventListener("click", () => {
      theme = order[(order.indexOf(theme) + 1) % order.length];
      try {
        localStorage.setItem(key, theme);
      } catch {
        // Then it holds for this page only.
      }
      show(theme);
    });
  });
}
