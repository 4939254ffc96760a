import { mkdirSync, rmdirSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import * as Embedded from "../../test/Embedded.ts"
import { run } from "../../test/Program.ts"

const program = new URL("../src/main.ts", import.meta.url)

Embedded.suite({ program, base: "", hello: "Hello from h3\n", none: { status: 404 } })

it("opens the storage with a later request if the first one could not", async () => {
  const app = await run(program, { TACHOGRAPH_API_KEY: Embedded.key })
  // SQLite cannot open a folder.
  const folder = join(app.cwd, "tachograph.db")
  mkdirSync(folder)
  expect(await app.call("/api/v1/events", Embedded.key)).toMatchObject({ status: 500 })
  rmdirSync(folder)
  expect(await app.call("/api/v1/events", Embedded.key)).toMatchObject({ status: 200 })
})
