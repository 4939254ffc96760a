import { StorageSuite } from "@tachograph/testkit"
import { Redacted, Result } from "effect"
import { expect, it } from "vitest"
import { fromUrl, postgres } from "../src/index.ts"
import { label } from "../src/PostgresUrl.ts"
import { emptyStorage } from "./EmptySchema.ts"

StorageSuite.run("Postgres", emptyStorage)

it.each([
  [undefined, "the URL is not of the form postgres://user:password@host:port/database"],
  ["mysql://me:secret@h/d", "the URL is not of the form postgres://user:password@host:port/database"],
  ["postgres://me:secret@h/d?pool_size=x", `pool_size is "x": expected a number of connections, at least 1`],
  [
    "postgres://me:secret@one,,two/d",
    "the URL has a comma without a host: expected postgres://user:password@one:5432,two:5432/database"
  ],
  ["postgres://me:secret@one,two:x/d", "the URL is not of the form postgres://user:password@host:port/database"],
  [
    "postgres:///d?host=one,two",
    "host has a comma: several hosts stand before the path, as in postgres://one:5432,two:5432/database"
  ],
  [
    "postgres://me:secret@one,two/d?target_session_attrs=standby",
    `target_session_attrs is "standby": expected any, primary or read-write`
  ]
])("rejects the URL %j", (url, reason) => {
  const message = `The URL for Postgres cannot be used: ${reason}`
  expect(() => postgres(url as string)).toThrow(new TypeError(message))
})

it("takes several hosts, and what a node must be", () => {
  const text =
    "postgres://me:a%2Cb@one:5433,two,[::1]:5434/d?target_session_attrs=read-write&pool_size=2&sslmode=require"
  const config = Result.getOrThrow(fromUrl(text))
  expect(Redacted.value(config.url as Redacted.Redacted)).toBe(
    "postgres://me:a%2Cb@one:5433,two,[::1]:5434/d?sslmode=require"
  )
  expect([config.targetSessionAttrs, config.maxConnections]).toEqual(["read-write", 2])
  expect(label(text)).toBe("one:5433,two,[::1]:5434/d")
})
