/** A server at which people sign in, and the provider that it asks. */
import type { Duration } from "effect"
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { vi } from "vitest"
import { startInProcess } from "../CommandLine.ts"
import * as OidcProvider from "./OidcProvider.ts"

export const apiKey = "a key of the operator's own"

/** The provider and the server must know each other's address before they start. */
export const freePort = async (): Promise<number> => {
  const server = createServer()
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

const variables = { TACHOGRAPH_OIDC_CLIENT_SECRET: OidcProvider.clientSecret, TACHOGRAPH_API_KEY: apiKey }

const optionsOf = (port: number, issuer: string): ReadonlyArray<string> => [
  ...["--port", String(port), "--oidc-issuer", issuer, "--oidc-client-id", OidcProvider.clientId],
  ...["--oidc-group", "staff=read", "--oidc-group", "cn=ops,ou=groups=default:record,admin"],
  ...["--oidc-group", "acme=the acme: project:read"]
]

/** Starts a server at the port, until the end of the test. */
export const startAt = async (
  port: number,
  issuer: string,
  { args = ["--storage", "memory:"], cacheTtl = "1 minute" as Duration.Input, env = {} } = {}
) => {
  const command = ["serve", ...optionsOf(port, issuer), ...args]
  const { output, stop } = startInProcess(command, { ...variables, ...env }, cacheTtl)
  const url = `http://127.0.0.1:${port}`
  await vi.waitFor(() => fetch(`${url}/health`), { timeout: 60_000 })
  return { url, output, stop }
}

export const start = async (
  options: Parameters<typeof OidcProvider.start>[1] = {},
  serving: Parameters<typeof startAt>[2] = {}
) => {
  const port = await freePort()
  const provider = await OidcProvider.start(`http://127.0.0.1:${port}`, options)
  return { provider, port, ...(await startAt(port, provider.url, serving)) }
}
