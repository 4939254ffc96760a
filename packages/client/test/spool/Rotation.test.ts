/** A key is replaced by another one while calls are recorded, as `docs/keys.md` describes. */
import { ApiKeyCacheTtl, ApiKeys, defaultProject, MemoryStorage, Storage } from "@tachograph/core"
import { createTachograph } from "@tachograph/router"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"
import { expect, it, onTestFinished, vi } from "vitest"
import { createRecorder, type Drop } from "../../src/index.ts"
import { temporaryFolder } from "../process/Child.ts"
import { eventsOf } from "../Recording.ts"

/** A server whose cache of keys is short, and the keys of its storage, as another process changes them. */
const started = async () => {
  const runtime = ManagedRuntime.make(ApiKeys.layer().pipe(Layer.provideMerge(MemoryStorage.layer)))
  const storage = Layer.merge(
    Layer.succeed(Storage, await runtime.runPromise(Storage)),
    Layer.succeed(ApiKeyCacheTtl, "50 millis")
  )
  const tachograph = await createTachograph({ storage, thread: false })
  const server = createServer(tachograph.node).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await tachograph.close()
    await runtime.dispose()
  })
  const issue = async () => {
    const key = { project: defaultProject, name: "application", scopes: ["record"], expiresAt: null } as const
    const [secret, { id }] = await runtime.runPromise(Effect.flatMap(ApiKeys, ({ issue }) => issue(key)))
    return { apiKey: Redacted.value(secret), id }
  }
  return {
    issue,
    revoke: (id: string) => runtime.runPromise(Effect.flatMap(ApiKeys, ({ revoke }) => revoke(id))),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    numbers: async () => (await eventsOf(tachograph)).map(({ properties }) => properties.inputs["n"] as number)
  }
}

it("loses no event under load, also where the old key is revoked before its last events are sent", async () => {
  const { issue, numbers, revoke, url } = await started()
  const drops: Array<Drop> = []
  const spool = temporaryFolder()
  const open = (apiKey: string) => createRecorder({ url, apiKey, spool, onDrop: (drop) => void drops.push(drop) })
  const record = async (recorder: ReturnType<typeof open>, from: number) => {
    for (let n = from; n < from + 10; n++) {
      recorder.record({ api: "aisdk", inputs: { n }, output: {}, session: `s${n % 5}` })
      await setTimeout(1)
    }
    await recorder.spooled()
  }
  const [old, next] = [await issue(), await issue()]
  const before = open(old.apiKey)
  await record(before, 0)
  expect(await before.flush()).toBe(true)
  // Too early: the application still has it.
  await revoke(old.id)
  await vi.waitFor(async () => {
    const response = await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${old.apiKey}` } })
    expect(response.status).toBe(401)
  })
  await record(before, 10)
  expect(await before.flush({ timeoutMs: 500 })).toBe(false)
  expect(before.counters()).toMatchObject({ dropped: {}, problem: expect.stringContaining("refused the key") })
  // The application starts again, with the new key and the same folder.
  const after = open(next.apiKey)
  await record(after, 20)
  await vi.waitFor(
    async () => {
      expect(await after.flush()).toBe(true)
      expect((await numbers()).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n))
    },
    { timeout: 60_000, interval: 50 }
  )
  expect(drops).toEqual([])
})
