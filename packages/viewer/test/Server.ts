/** A recorder with its viewer, as `createTachograph` mounts it, for the time of a test or of a file. */
import { MemoryStorage, type Storage } from "@tachograph/core"
import { type Authorize, createTachograph, type Tachograph, type TachographOptions } from "@tachograph/router"
import { HttpClient } from "@tachograph/testkit"
import type { Layer } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export const apiKey = "a key for the tests of the pages"

export interface Server {
  readonly url: string
  /** The link that opens the pages with the key. */
  readonly viewer: (place?: string) => string
  readonly client: HttpClient.Client
  readonly tachograph: Tachograph
  readonly close: () => Promise<void>
}

/** With `scopes`, everybody has these and no key; or a rule says what a request may. */
export const start = async (
  storage: Layer.Layer<Storage, unknown> = MemoryStorage.layer,
  scopes: ReadonlyArray<"record" | "read"> | Authorize | undefined = undefined,
  { login, ...options }: Pick<TachographOptions<never>, "basePath" | "proxy"> & { readonly login?: string } = {}
): Promise<Server> => {
  const tachograph = await createTachograph(
    scopes === undefined
      ? { ...options, storage, apiKeys: [apiKey] }
      : {
          ...options,
          storage,
          authorize: typeof scopes === "function" ? scopes : () => ({ project: "default", scopes }),
          login
        }
  )
  const server = createServer((request, response) => tachograph.node(request, response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    viewer: (place = "") => `${url}/viewer/#key=${encodeURIComponent(apiKey)}${place}`,
    client: HttpClient.open(url, apiKey),
    tachograph,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await tachograph.close()
    }
  }
}
