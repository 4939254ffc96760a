#!/usr/bin/env node
/**
 * What the command `tachograph` runs first: it refuses a Node that is too old. It imports the program only then, since what a module
 * imports is linked before its own first line, and fails there by what the older Node lacks.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

// `engines` of every package says the same.
if (major > 22 || (major === 22 && minor >= 19)) {
  await import("./main.ts")
} else {
  console.error(`tachograph needs Node 22.19 or newer, and this is Node ${process.versions.node}: install a newer one`)
  process.exitCode = 1
}
