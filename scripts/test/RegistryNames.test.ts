/**
 * The names of our packages on a registry are anybody's until they are ours, so no page, message or example tells anyone to run or to
 * install one of them: what is installed is a tarball that was packed in a clone.
 */
import { globSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { path } from "../bundle/Bundle.ts"

const ours = String.raw`(?<![-\w/.:])(?:@tachograph/[\w-]+|tachograph)(?=[\s\x60"'@,.;)<]|$)`

/** Commands that run a package, which is their first word without a hyphen, or that add some. */
const running = String.raw`\b(?:npx|bunx|npm (?:exec|x|create|init)|(?:pnpm|yarn|bun) (?:create|dlx|x))(?: -\S*)* ${ours}`
const adding = String.raw`\b(?:npm (?:i|install|add)|(?:pnpm|yarn|bun|deno) (?:add|install)) [^\n\x60;&|]*?${ours}`
const byName = new RegExp(`${running}|${adding}`, "gm")

const files = [
  "{*,docs/**/*,examples/*/*,packages/*/*}.md",
  "examples/*/{Dockerfile,*.service,*.yaml,package.json}",
  "examples/*/src/**/*",
  "packages/*/{app,src}/**/*.{ts,tsx,css,html}",
  ".changeset/*.md",
  "openapi.json"
]

it("finds commands that get a package by its name, and no others", () => {
  const named = [
    "npx tachograph serve",
    "npx --yes @tachograph/server",
    "npm install --save-dev effect @tachograph/testkit"
  ]
  for (const text of named) expect(text.match(byName)).toHaveLength(1)
  const others = [
    "npm install ./vendor/tachograph-*.tgz",
    "node_modules/.bin/tachograph",
    "npm run --silent tachograph --"
  ]
  for (const text of others) expect(text.match(byName)).toBeNull()
})

it("tells nobody to run or install a package of ours by its name", () => {
  const told = globSync(files, { cwd: path("."), exclude: (name) => /node_modules|dist|generated/.test(name) }).flatMap(
    (file) => Array.from(readFileSync(path(file), "utf8").match(byName) ?? [], (command) => `${file}: ${command}`)
  )
  expect(told).toEqual([])
})
