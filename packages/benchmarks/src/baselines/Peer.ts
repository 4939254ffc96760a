/**
 * `Peer.ts aigne|genkit PACKAGES FOLDER`: a recorder that others make, from the folder where its packages were installed. It stores what
 * it records in the other folder.
 */
import { Server } from "node:http"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { join } from "node:path"

const [name = "", packages = "", folder = ""] = process.argv.slice(2)

// Both look for their settings there.
process.env["HOME"] = folder
process.chdir(folder)

// Both take no port 0, and one of them listens on every address.
const { listen } = Server.prototype
Server.prototype.listen = function (this: Server) {
  return listen.call(this, { port: 0, host: "127.0.0.1" }, () => {
    process.send?.({ url: `http://127.0.0.1:${(this.address() as AddressInfo).port}` })
  })
}

interface Aigne {
  readonly startObservabilityBlockletServer: (options: object) => Promise<unknown>
}

interface Genkit {
  readonly LocalFileLogStore: new (roots: object) => object
  readonly LocalFileTraceStore: new (roots: object) => object
  readonly startTelemetryServer: (options: object) => Promise<void>
}

const load = createRequire(join(packages, "package.json"))
const port = 1
if (name === "aigne") {
  const aigne = load("@aigne/observability-api/server") as Aigne
  await aigne.startObservabilityBlockletServer({ port, dbUrl: `file:${join(folder, "observer.db")}` })
} else {
  const genkit = load("@genkit-ai/telemetry-server") as Genkit
  const roots = { storeRoot: folder, indexRoot: folder }
  const traceStore = new genkit.LocalFileTraceStore(roots)
  await genkit.startTelemetryServer({ port, traceStore, logStore: new genkit.LocalFileLogStore(roots) })
}
process.once("disconnect", () => process.exit(0))
