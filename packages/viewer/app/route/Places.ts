/** The pages that the header names, and the key after `g` that goes there. */
export const places = [
  { name: "Sessions", path: "sessions", key: "s" },
  { name: "Calls", path: "calls", key: "c" },
  { name: "Live", path: "live", key: "l" },
  { name: "Failures", path: "failures", key: "x" },
  { name: "Agents", path: "agents", key: "a" },
  { name: "People", path: "people", key: "p" },
  { name: "Overview", path: "overview", key: "o" },
  { name: "Search", path: "search", key: "f" },
  { name: "Docs", path: "docs", key: "d" }
] as const
