/** The snippets of docs/lambda.md and of the package's README are the example, which is compiled and run. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const file = (path: string) => readFileSync(root + path, "utf8")

it.each(["docs/lambda.md", "packages/lambda/README.md"])("%s shows the example's function", (path) => {
  const snippets = Array.from(file(path).matchAll(/^```ts\n(.*?)^```$/gms), (match) => match[1])
  expect(snippets).toEqual([file("examples/lambda/src/handler.ts")])
})
