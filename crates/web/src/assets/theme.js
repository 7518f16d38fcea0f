// Color scheme: system, light or dark. Runs before the page is drawn, to avoid a flash.
{
  const key = "reasonscape-theme";
  const names = { auto: "system", light: "light", dark: "dark" };
  const signs = { auto: "◐", light: "☀", dark: "☾" };
  const order = ["auto", "light", "dark"];

  const stored = () => {
    try {
      const theme = localStorage.getItem(key);
      return order.includes(theme) ? theme : "auto";
    } catch {
      return "auto"; // Storage may be disabled.
    }
  };

  const show = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    button.textContent = signs[theme];
    button.setAttribute("aria-label", `Color scheme: ${names[theme]}`);
    button.title = `Color scheme: ${names[theme]}`;
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
        // The choice then applies to this page only.
      }
      show(theme);
    });
  });
}
