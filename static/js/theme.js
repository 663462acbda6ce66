// Loaded early and not as a module, so that the page never flashes in the other theme.
(() => {
  const KEY = "mrpvm.theme";
  const root = document.documentElement;

  const stored = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // Storage may be forbidden; the system's theme then holds.
    }
  };

  const apply = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };

  const shown = () =>
    root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

  // Controls that need scripts show only where scripts run.
  root.classList.add("has-script");
  apply(stored());
  addEventListener("storage", (event) => event.key === KEY && apply(event.newValue));

  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-theme-toggle]")) return;
    const theme = shown() === "dark" ? "light" : "dark";
    apply(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // The choice then lasts for this page alone.
    }
  });
})();
