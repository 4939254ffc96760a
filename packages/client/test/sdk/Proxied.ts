/** Sends the calls of an SDK through the recording proxy. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { MemoryStorage } from "@tachograph/core"
import { createTachograph } from "@tachograph/router"
import { vi } from "vitest"
import { afterFile } from "../../../../scripts/vitest/AfterFile.ts"
import type { Provider } from "../Provider.ts"
import { eventsOf, type RecordedCall } from "../Recording.ts"

export interface Proxied {
  /** Reaches the provider through the proxy, at the provider's own addresses. */
  readonly fetch: typeof globalThis.fetch
  /** The events in the order of recording, once there are this many. */
  readonly events: (count: number) => Promise<ReadonlyArray<RecordedCall>>
}

export const startProxied = async (provider: Provider): Promise<Proxied> => {
  const proxy = { open: true, upstreams: { provider: provider.url } }
  const tachograph = await createTachograph({ storage: MemoryStorage.layer, proxy })
  const server = createServer(tachograph.node).listen(0, "127.0.0.1")
  await once(server, "listening")
  afterFile(async () => {
    server.closeAllConnections()
    server.close()
    await tachograph.close()
  })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/proxy/provider`
  const { fetch } = globalThis
  return {
    fetch: async (input, init) => {
      const url = (input instanceof Request ? input.url : String(input)).replace(provider.url, base)
      const response = await fetch(input instanceof Request ? new Request(url, input) : url, init)
      const atProvider = response.url.replace(base, provider.url)
      return Object.defineProperty(response, "url", { value: atProvider })
    },
    events: (count) =>
      vi.waitFor(
        async () => {
          const events = await eventsOf(tachograph)
          if (events.length < count) throw new Error(`${events.length} of ${count} events are recorded`)
          return events
        },
        { timeout: 60_000, interval: 5 }
      )
  }
}
