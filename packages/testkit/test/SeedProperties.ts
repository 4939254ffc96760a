/** Runs before each test file of the tree: gives fast-check's properties the seed of all random tests. */
import fc from "fast-check"
import { seed } from "../src/TestSeed.ts"

fc.configureGlobal({ seed })
