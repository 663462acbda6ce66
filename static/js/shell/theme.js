// Loaded early and not as a module, so that the page never flashes in the wrong theme or rail width.
(() => {
  const root = document.documentElement;

  const stored = (name) => {
    try {
      return localStorage.getItem(`mrpvm.${name}`);
    } catch {
      return null; // Storage may be forbidden; then the defaults of system and screen apply.
    }
  };

  /** Set the reader's choice on the root element, or remove it if it is not among `values`, and send an event. */
  const apply = (name, values, value) => {
    if (values.includes(value)) root.dataset[name] = value;
    else delete root.dataset[name];
    root.dispatchEvent(new Event(`${name}change`));
  };

  const choices = {
    theme: {
      values: ["light", "dark"],
      opener: "button[name=theme]",
      shown: () => root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"),
    },
    rail: {
      values: ["narrow", "wide"],
      opener: "button[name=rail]",
      shown: () => root.dataset.rail ?? (matchMedia("(width <= 87.5em)").matches ? "narrow" : "wide"),
    },
  };

  // Controls that need scripts show only where scripts run.
  root.classList.add("has-script");
  for (const [name, { values, opener, shown }] of Object.entries(choices)) {
    apply(name, values, stored(name));
    addEventListener("storage", (event) => event.key === `mrpvm.${name}` && apply(name, values, event.newValue));
    document.addEventListener("click", (event) => {
      if (!event.target.closest?.(opener)) return;
      const value = values.find((other) => other !== shown());
      apply(name, values, value);
      try {
        localStorage.setItem(`mrpvm.${name}`, value);
      } catch {
        // The choice then applies to this page only.
      }
    });
  }
})();
