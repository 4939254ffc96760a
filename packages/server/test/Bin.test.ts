import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, inject, it } from "vitest"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const bin = `${root}packages/server/src/bin.ts`

/** The command of the packages, and its bundle, which imports of Node what every version has. */
const programs = [bin, inject("tachographProgram")]

/** Runs a program on a Node that says it is of a version, and that fails as a module imports another. */
const runOn = (version: string, program: string) => {
  const pretend = `
    import { registerHooks } from "node:module"
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })
    registerHooks({
      resolve: (name, context, next) => {
        if (context.parentURL !== undefined && name !== "node:module") throw new Error("imports " + name)
        return next(name, context)
      }
    })`
  const args = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, program, "--version"]
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
  return { status, stderr, stdout }
}

describe("the command on a Node that is too old", () => {
  it.each(["22.18.0", "20.20.2", "9.11.2"])("says on %s which Node it needs, before it imports anything", (version) => {
    const stderr = `tachograph needs Node 22.19 or newer, and this is Node ${version}: install a newer one\n`
    for (const program of programs) expect(runOn(version, program)).toEqual({ status: 1, stdout: "", stderr })
  })

  it.each(["22.19.0", "23.0.0", "24.0.0", "100.0.0"])("imports the program on %s", (version) => {
    for (const program of programs) expect(runOn(version, program).stderr).toMatch(/imports \.\/main.*\.m?[tj]s/)
  })

  it("names the version of the packages and of what they say of themselves", () => {
    const manifests = globSync("packages/*/package.json", { cwd: root }).map((file) => {
      const { engines, private: isPrivate } = JSON.parse(readFileSync(root + file, "utf8"))
      return isPrivate ? undefined : engines?.node
    })
    expect(new Set(manifests.filter((engine) => engine !== undefined))).toEqual(new Set([">=22.19"]))
    const pages = globSync(["docs/*.md", "packages/*/README.md"], { cwd: root })
    const named = pages.flatMap((file) => readFileSync(root + file, "utf8").match(/Node [\d.]+ or newer/g) ?? [])
    expect(new Set(named)).toEqual(new Set(["Node 22.19 or newer"]))
  })
})
