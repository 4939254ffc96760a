/** How an address is reached: the version of TLS and HTTP, and how long its certificate lasts. */
import * as Effect from "effect/Effect"
import { connect } from "node:tls"
import { isLoopback } from "../config/ListeningHost.ts"
import { type Check, type Finding, ok, problem, warning } from "./Check.ts"

const page = "reverse-proxy.md#tls"

/** From here on (days) a certificate should have been renewed. */
const renewalDays = 10

const dayMs = 86_400_000

/** How long a connection may take (ms). */
const patienceMs = 10_000

interface Handshake {
  readonly tls: string
  readonly http: string
  readonly validTo: number
}

const shake = (url: URL) =>
  Effect.callback<Handshake, string>((resume) => {
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1")
    const socket = connect({
      host,
      port: Number(url.port || 443),
      ALPNProtocols: ["h2", "http/1.1"],
      ...(/[:\d]$/.test(host) ? {} : { servername: host })
    })
    socket.setTimeout(patienceMs, () => socket.destroy(new Error(`nothing within ${patienceMs / 1000} s`)))
    socket.once("error", (error) => resume(Effect.fail(error.message)))
    socket.once("secureConnect", () => {
      const http = socket.alpnProtocol === "h2" ? "HTTP/2" : "HTTP/1.1"
      const validTo = Date.parse(socket.getPeerCertificate().valid_to)
      resume(Effect.succeed({ tls: socket.getProtocol() ?? "TLS", http, validTo }))
      socket.end()
    })
    return Effect.sync(() => void socket.destroy())
  })

const encrypted = (url: URL): Effect.Effect<Finding> =>
  shake(url).pipe(
    Effect.map(({ http, tls, validTo }) => {
      const days = Math.floor((validTo - Date.now()) / dayMs)
      const says = `${tls}, ${http}; the certificate is valid for ${days} days more`
      return days > renewalDays ? ok(says) : warning(says, "renew it: see why that was not done by itself", page)
    }),
    Effect.catch((reason) => {
      const mend = "use a certificate for this name that programs trust; for one of your own set NODE_EXTRA_CA_CERTS"
      return Effect.succeed(problem(`no connection over TLS: ${reason}`, mend, page))
    })
  )

const plain = (url: URL): Finding =>
  isLoopback(url.hostname)
    ? ok("HTTP/1.1 without TLS, on this machine")
    : problem("keys and conversations pass unencrypted", "serve TLS in front, and give its https address", page)

export const of = (url: URL): ReadonlyArray<Check> => [
  { name: "tls", look: url.protocol === "https:" ? encrypted(url) : Effect.succeed(plain(url)) }
]
