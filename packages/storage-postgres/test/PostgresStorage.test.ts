import { StorageSuite } from "@tachograph/testkit"
import { expect, it } from "vitest"
import { postgres } from "../src/index.ts"
import { emptyStorage } from "./EmptySchema.ts"

StorageSuite.run("Postgres", emptyStorage)

it.each([
  [undefined, "the URL is not of the form postgres://user:password@host:port/database"],
  ["mysql://me:secret@h/d", "the URL is not of the form postgres://user:password@host:port/database"],
  ["postgres://me:secret@h/d?pool_size=x", `pool_size is "x": expected a number of connections, at least 1`]
])("rejects the URL %j", (url, reason) => {
  const message = `The URL for Postgres cannot be used: ${reason}`
  expect(() => postgres(url as string)).toThrow(new TypeError(message))
})
