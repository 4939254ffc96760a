/** Which modules a thread loads when it starts. Every thread has memory of its own for each. */
import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, test } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

const host = "packages/server/src/main.ts"
const thread = ["packages/router/src/engine/thread/Thread.ts", "packages/server/src/commands/EngineStorage.ts"]

let importsOf: ReadonlyMap<string, ReadonlyArray<string>>
let texts: ReadonlyArray<string>

beforeAll(async () => {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [host, ...thread],
    outdir: "unused",
    bundle: true,
    format: "esm",
    platform: "node",
    minifyWhitespace: true,
    write: false,
    metafile: true,
    logLevel: "error"
  })
  texts = outputFiles.map(({ text }) => text)
  const isAtOnce = ({ external, kind }: { readonly external?: boolean; readonly kind: string }) =>
    kind === "import-statement" && external !== true
  importsOf = new Map(
    Object.entries(metafile.inputs).map(([path, { imports }]) => [
      path,
      imports.filter(isAtOnce).map(({ path }) => path)
    ])
  )
})

/** The modules that are loaded with these, without those of a dynamic import. */
const loadedWith = (...entries: ReadonlyArray<string>): ReadonlyArray<string> => {
  const loaded = new Set(entries)
  for (const path of loaded) for (const imported of importsOf.get(path)!) loaded.add(imported)
  return Array.from(loaded)
}

const storages = /packages\/storage-(sql|sqlite)\/|storage-postgres\/src\/(?!PostgresUrl|Hosts)|@effect\/sql-/

describe("modules that are loaded at the start", () => {
  test("the thread of the host loads no storage", () => {
    const loaded = loadedWith(host)
    expect(loaded).toContain("packages/router/src/front/Front.ts")
    expect(loaded.filter((path) => storages.test(path))).toEqual([])
  })

  test("the thread of the host loads nothing with which people sign in, who may not do so at all", () => {
    const loaded = loadedWith(host)
    expect(loaded).toContain("packages/server/src/signin/SignIn.ts")
    expect(loaded.filter((path) => /\/(openid-client|oauth4webapi|jose)\//.test(path))).toEqual([])
    expect(Array.from(importsOf.keys()).some((path) => path.includes("/openid-client/"))).toBe(true)
  })

  test("the thread of the host loads no command but serve", () => {
    const commands = loadedWith(host).filter((path) => /server\/src\/(access|commands|doctor)\//.test(path))
    expect(commands).toContain("packages/server/src/commands/Serve.ts")
    expect(commands.filter((path) => !/\/(\w*Settings|EngineStorage|Serve\w*|SettingParsers)\.ts$/.test(path))).toEqual(
      []
    )
  })

  test("the thread of the engine loads no storage but its own, no mount, and nothing of the command line", () => {
    const loaded = loadedWith(...thread)
    expect(loaded).toContain("packages/core/src/Recorder.ts")
    expect(loaded.filter((path) => storages.test(path))).toEqual([])
    expect(loaded.filter((path) => /effect\/dist\/cli\/|router\/src\/mounts\/|server\/src\/http\//.test(path))).toEqual(
      []
    )
  })

  test("no module has a character beyond ASCII: V8 would keep two bytes for each character of its bundle", () => {
    const first = /[^\0-\x7f]/
    expect(
      texts.filter((text) => first.test(text)).map((text) => text.slice(text.search(first) - 40).slice(0, 80))
    ).toEqual([])
  })
})
