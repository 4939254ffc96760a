import { mkdirSync, rmdirSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import * as Embedded from "../../test/Embedded.ts"
import { run } from "../../test/Program.ts"

const program = new URL("../src/main.ts", import.meta.url)

Embedded.suite({ program, base: "", hello: "Hello from h3\n", none: { status: 404 } })

it("opens with a later request what could not be opened by the first", async () => {
  const app = await run(program, { TACHOGRAPH_API_KEY: Embedded.key })
  // No file of SQLite's can be where a folder is.
  const inTheWay = join(app.cwd, "tachograph.db")
  mkdirSync(inTheWay)
  expect(await app.call("/api/v1/events", Embedded.key)).toMatchObject({ status: 500 })
  rmdirSync(inTheWay)
  expect(await app.call("/api/v1/events", Embedded.key)).toMatchObject({ status: 200 })
})
