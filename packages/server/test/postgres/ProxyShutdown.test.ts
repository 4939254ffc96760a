/** Streams through the proxy that are open when the server is told to end, or its workers are renewed, over Postgres. */
import { randomBytes } from "node:crypto"
import { inject, it } from "vitest"
import { expectRecorded } from "../OpenStreams.ts"

const storage = (): string => {
  const url = new URL(inject("postgresUrl"))
  url.searchParams.set("schema", `test_${randomBytes(8).toString("hex")}`)
  return url.href
}

it.concurrent("are recorded as far as they came when workers end", () => expectRecorded(storage(), ["--workers", "2"]))

it.concurrent("are recorded as far as they came when workers are renewed", () =>
  expectRecorded(storage(), ["--workers", "2"], 2))
