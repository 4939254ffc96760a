/** What the code of a function imports, for tests that run it as a process. */
export { MemoryStorage } from "@tachograph/core"
export { createHandler } from "../src/index.ts"
