import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const path = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url))

const tsc = (...args: ReadonlyArray<string>): string => {
  try {
    return execFileSync(path("node_modules/.bin/tsc"), args, { encoding: "utf8" })
  } catch (error) {
    return (error as { readonly stdout: string }).stdout
  }
}

const application = `
import { createRecorder } from "@tachograph/client"
import { createApi } from "@tachograph/client/api"
import "@tachograph/client/register"
const recorder = createRecorder({ url: "http://127.0.0.1:4400", apiKey: "k" })
export const answer: Promise<Response> = recorder.fetch("http://127.0.0.1")
export const sent: number = recorder.counters().sent
declare const variables: { readonly [name: string]: string | undefined }
createRecorder({ url: variables["TACHOGRAPH_URL"], apiKey: variables["TACHOGRAPH_API_KEY"], agent: "chat" })
export const api = createApi({ url: "http://127.0.0.1:4400" })
export const more: Promise<string | null> = api.listEvents().then(({ next_cursor }) => next_cursor)
`

const folder = mkdtempSync(join(tmpdir(), "tachograph-types-"))

beforeAll(() => {
  expect(tsc("-b", path("packages/client"))).toBe("")
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("the types that are published", () => {
  it.each([
    ["of a page", ["ES2022", "DOM"]],
    ["of a page with iterables", ["ES2022", "DOM", "DOM.Iterable"]],
    ["of now", ["ESNext", "DOM"]]
  ])("compile with the libraries %s, without skipLibCheck", (_name, lib) => {
    const dist = (name: string) => path(`packages/${name}/dist`)
    const paths = {
      "@tachograph/client": [`${dist("client")}/index.d.ts`],
      "@tachograph/client/*": [`${dist("client")}/*.d.ts`],
      "@tachograph/capture/*": [`${dist("capture")}/*.d.ts`],
      "@tachograph/formats": [`${dist("formats")}/index.d.ts`],
      "@tachograph/formats/*": [`${dist("formats")}/*.d.ts`]
    }
    const options = { target: "ES2022", module: "nodenext", strict: true, noEmit: true, types: [], lib, paths }
    writeFileSync(join(folder, "package.json"), '{"type":"module"}')
    writeFileSync(join(folder, "application.ts"), application)
    const config = { compilerOptions: options, files: ["application.ts"] }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
    expect(tsc("-p", folder)).toBe("")
  })
})
