// Two turns side by side: what is chosen in one graph is chosen in the other by the same id, and its row is in sight.
import { onElements } from "../shell/dom.js";

onElements(".compare", (page) => {
  document.addEventListener("turn:selected", ({ detail }) => {
    for (const row of page.querySelectorAll("[data-row-of]")) {
      const isChosen = row.dataset.rowOf === detail.id;
      row.classList.toggle("is-selected", isChosen);
      if (isChosen) row.scrollIntoView({ block: "nearest" });
    }
  });
});
