/** Runs the configurations of `docs/reverse-proxy.md` in front of a server, with programs that the machine has. */
import { Certificate } from "@tachograph/testkit"
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { onTestFinished, vi } from "vitest"
import { blocks } from "./Documented.ts"
import { temporaryFolder } from "./TachographProcess.ts"

/** A program, and what its block in the document becomes on this machine. */
interface Front {
  readonly program: string
  /** Of its block in the document. */
  readonly language: string
  readonly args: (file: string) => ReadonlyArray<string>
  readonly configure: (text: string, place: Place) => string
}

interface Place {
  readonly folder: string
  readonly port: number
  /** Of the server behind it: `127.0.0.1:4400`. */
  readonly behind: string
}

const certificate = (folder: string) => [join(folder, "cert.pem"), join(folder, "key.pem")] as const

/** Puts the certificate of the tests, the ports and the folders of this run into a text. */
const placed = (text: string, { behind, folder }: Place): string => {
  const [cert, key] = certificate(folder)
  return text
    .replaceAll("127.0.0.1:4400", behind)
    .replaceAll("/etc/tachograph/tls/fullchain.pem", cert)
    .replaceAll("/etc/tachograph/tls/privkey.pem", key)
    .replaceAll("tachograph.example.com", "127.0.0.1")
}

const temporaryFolders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]

export const nginx: Front = {
  program: "nginx",
  language: "nginx",
  args: (file) => ["-e", "stderr", "-c", file],
  configure: (text, place) =>
    [
      "daemon off; error_log stderr;",
      `pid ${place.folder}/nginx.pid;`,
      "events {}",
      "http { access_log off;",
      ...temporaryFolders.map((name) => `${name}_temp_path ${place.folder}/${name};`),
      placed(text, place).replace("listen 443 ", `listen 127.0.0.1:${place.port} `),
      "}"
    ].join("\n")
}

const caddy: Front = {
  program: "caddy",
  language: "caddy",
  args: (file) => ["run", "--adapter", "caddyfile", "--config", file],
  configure: (text, place) => {
    const [cert, key] = certificate(place.folder)
    // It would ask an authority on the internet for a certificate.
    return [
      "{\nadmin off\nauto_https disable_redirects\nskip_install_trust\n}",
      placed(text, place).replace(/^127\.0\.0\.1 \{/m, `https://127.0.0.1:${place.port} {\ntls ${cert} ${key}`)
    ].join("\n")
  }
}

const modules = ["mpm_event", "authz_core", "ssl", "socache_shmcb", "headers", "proxy", "proxy_http"]

const apache: Front = {
  program: "apache2",
  language: "apache",
  args: (file) => ["-DFOREGROUND", "-f", file],
  configure: (text, place) =>
    [
      `ServerRoot ${place.folder}`,
      `DefaultRuntimeDir ${place.folder}`,
      `PidFile ${place.folder}/apache.pid`,
      "ServerName 127.0.0.1",
      "User www-data\nGroup www-data",
      `Listen 127.0.0.1:${place.port}`,
      `ErrorLog ${place.folder}/error.log`,
      ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
      placed(text, place).replace("*:443", `127.0.0.1:${place.port}`)
    ].join("\n")
}

/** Whether the machine has a program. */
export const has = ({ program }: Front): boolean => spawnSync("which", [program]).status === 0

const freePort = async (): Promise<number> => {
  const server = createServer()
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts the configuration `change`d in front of a server, until the end of the test, and returns its address. */
export const start = async (
  front: Front,
  server: string,
  change: (text: string) => string = (text) => text
): Promise<string> => {
  const folder = temporaryFolder()
  // Programs that root starts give their rights up.
  execFileSync("chmod", ["755", folder])
  for (const name of temporaryFolders) mkdirSync(join(folder, name))
  const place = { folder, port: await freePort(), behind: new URL(server).host }
  const [cert, key] = certificate(folder)
  writeFileSync(cert, Certificate.cert)
  writeFileSync(key, Certificate.key)
  const file = join(folder, "front.conf")
  const [text] = blocks("reverse-proxy.md", front.language)
  writeFileSync(file, front.configure(change(text!), place))
  const child = spawn(front.program, front.args(file), {
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder },
    stdio: ["ignore", "ignore", "pipe"]
  })
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
  const ended = once(child, "close")
  onTestFinished(async () => {
    child.kill("SIGTERM")
    await ended
  })
  const address = `https://127.0.0.1:${place.port}`
  const reached = vi.waitFor(() => fetch(address), { timeout: 30_000, interval: 20 })
  const failed = ended.then(() => Promise.reject(new Error(`${front.program} ended: ${errors}`)))
  await Promise.race([reached, failed])
  failed.catch(() => undefined)
  return address
}

export const everyFront = [nginx, caddy, apache]
