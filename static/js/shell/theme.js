// Loaded early and not as a module, so that the page never flashes in the other theme or with the rail of another width.
(() => {
  const root = document.documentElement;

  const stored = (name) => {
    try {
      return localStorage.getItem(`mrpvm.${name}`);
    } catch {
      return null; // Storage may be forbidden; what the system or the screen says then holds.
    }
  };

  /** Set a choice of the reader's on the root element, or take it off it where it is none of the `values`; say so. */
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
      shown: () => root.dataset.rail ?? (matchMedia("(max-width: 1400px)").matches ? "narrow" : "wide"),
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
        // The choice then lasts for this page alone.
      }
    });
  }
})();
