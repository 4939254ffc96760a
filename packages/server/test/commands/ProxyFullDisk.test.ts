/** Calls pass the proxy while the disk is full, and are recorded once there is room. */
import { createTachograph } from "@tachograph/router"
import { SqlStorage } from "@tachograph/storage-sql"
import { SqliteClient } from "@tachograph/storage-sqlite"
import { Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, it, onTestFinished, vi } from "vitest"
import { temporaryFolder } from "../TachographProcess.ts"

const apiKey = "an API key for tests"
const key = "sk-planted-key"
const answer = JSON.stringify({ choices: [], echo: "x".repeat(50_000) })

const listening = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it("passes calls on while the disk is full, says so, and records them when there is room", async () => {
  const provider = await listening((request, response) => void request.resume().on("end", () => response.end(answer)))
  let sql: SqlClient.SqlClient
  const client = SqliteClient.layer({ filename: join(temporaryFolder(), "tachograph.db") })
  const storage = Layer.mergeAll(
    SqlStorage.layer({}),
    Layer.effectDiscard(Effect.map(SqlClient.SqlClient, (found) => void (sql = found)))
  ).pipe(Layer.provide(client))
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
  const tachograph = await createTachograph({
    storage: Layer.mergeAll(storage, logger),
    apiKeys: [apiKey],
    // Room for some calls only.
    proxy: { upstreams: { local: provider }, maxHeldBytes: 300_000 }
  })
  onTestFinished(() => tachograph.close())
  const url = await listening(tachograph.node)
  const metric = async (name: string) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.split(" ")[1]
    )
  }
  const recorded = () => metric('tachograph_proxy_calls_total{outcome="recorded"}')
  const call = async (session: string) => {
    const headers = { "x-tachograph-key": apiKey, "x-tachograph-session": session, authorization: `Bearer ${key}` }
    // Texts that cannot be compressed.
    const content = Array.from({ length: 200 }, (_, n) => hash("sha256", `${session} ${n}`)).join(" ")
    const body = JSON.stringify({ messages: [{ role: "user", content }] })
    const response = await fetch(`${url}/proxy/local/chat/completions`, { method: "POST", headers, body })
    expect([response.status, (await response.text()) === answer]).toEqual([200, true])
  }
  const before = await recorded()
  await call("before")
  await vi.waitFor(async () => expect(await recorded()).toBe(before + 1), { timeout: 60_000, interval: 20 })

  // The pages that the file has, and no more.
  await Effect.runPromise(sql!.unsafe("PRAGMA max_page_count = 1"))
  const dropped = await metric('tachograph_proxy_calls_total{outcome="held-bytes"}')
  for (let n = 0; n < 6; n++) await call(`full ${n}`)
  await vi.waitFor(
    async () => expect(await metric('tachograph_proxy_calls_total{outcome="held-bytes"}')).toBeGreaterThan(dropped),
    { timeout: 60_000, interval: 20 }
  )
  const waiting = await metric("tachograph_proxy_waiting_calls")
  expect(waiting).toBeGreaterThan(0)
  expect(await recorded()).toBe(before + 1)
  expect(lines.some((line) => line.includes("model calls wait"))).toBe(true)
  expect(lines.some((line) => line.includes("not recorded") && line.includes("held-bytes"))).toBe(true)

  await Effect.runPromise(sql!.unsafe("PRAGMA max_page_count = 1000000"))
  await vi.waitFor(async () => expect(await metric("tachograph_proxy_waiting_calls")).toBe(0), {
    timeout: 60_000,
    interval: 20
  })
  expect(await recorded()).toBe(before + 1 + waiting)
  expect(await recorded()).toBe((await tachograph.api.listEvents({ limit: 100 })).events.length + before)
  expect(lines.join("\n")).not.toContain(key)
})
