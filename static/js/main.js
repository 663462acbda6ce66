// The page's entry: every part finds its own elements and does nothing where there are none.
import "./ui.js";
import "./tree.js";
import "./graph.js";
import "./live.js";
import "./completion.js";
import "./composer.js";
import "./page.js";
