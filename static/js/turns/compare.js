// Two turns side by side: choosing a node in one graph chooses it in the other, and scrolls its row into view.
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
