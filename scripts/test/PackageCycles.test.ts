/** No package depends on itself through others, not even for its tests: they are a package of their own then, in `test/package.json`. */
import { globSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { path } from "../bundle/Bundle.ts"

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** What each package of the tree depends on. */
const needs = new Map(
  globSync(["packages/*/package.json", "packages/*/{app,test}/package.json"], { cwd: path("") }).map((file) => {
    const { dependencies, devDependencies, name }: Manifest = JSON.parse(readFileSync(path(file), "utf8"))
    return [name, Object.keys({ ...dependencies, ...devDependencies })] as const
  })
)

/** The first way from the last package of `way` to one that is on it already. */
const circleFrom = (way: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  for (const next of needs.get(way.at(-1)!) ?? []) {
    if (way.includes(next)) return [...way, next]
    const circle = circleFrom([...way, next])
    if (circle !== undefined) return circle
  }
  return undefined
}

it("has no package that depends on itself", () => {
  expect(needs.get("@tachograph/router")).toContain("@tachograph/core")
  expect(needs.get("core-tests")).toContain("@tachograph/testkit")
  for (const name of needs.keys()) expect(circleFrom([name])).toBeUndefined()
})
