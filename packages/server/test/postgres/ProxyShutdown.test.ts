/** Streams through the proxy that are open when the server is told to end, over Postgres. */
import { randomBytes } from "node:crypto"
import { inject, it } from "vitest"
import { expectRecorded } from "../OpenStreams.ts"

it.concurrent.each([
  ["--thread", "yes"],
  ["--thread", "no"],
  ["--workers", "2"]
])("are recorded as far as they came, with %s %s", async (...options) => {
  const url = new URL(inject("postgresUrl"))
  url.searchParams.set("schema", `test_${randomBytes(8).toString("hex")}`)
  await expectRecorded(url.href, options)
})
