/**
 * `HttpSqlite.ts FILE`: stores whole bodies in a table, durably before it responds. Requests that arrive during one iteration
 * of the event loop share a transaction.
 */
import { randomUUID } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"

const [file = ""] = process.argv.slice(2)
const database = new DatabaseSync(file)
database.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE events (id TEXT PRIMARY KEY, received_at INTEGER NOT NULL, session TEXT NOT NULL, body TEXT NOT NULL);
  CREATE INDEX events_by_session ON events (session);
`)
const insert = database.prepare("INSERT INTO events (id, received_at, session, body) VALUES (?, ?, ?, ?)")

const respond = (response: ServerResponse, status: number, body: object) => {
  const text = JSON.stringify(body)
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
  response.end(text)
}

let queue: Array<{ readonly id: string; readonly body: string; readonly response: ServerResponse }> = []

const commit = () => {
  const batch = queue
  queue = []
  try {
    database.exec("BEGIN")
    const now = Date.now()
    for (const { body, id } of batch) insert.run(id, now, (JSON.parse(body) as { session: string }).session, body)
    database.exec("COMMIT")
    for (const { id, response } of batch) respond(response, 200, { event_id: id, received_at: now })
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK")
    for (const { response } of batch) respond(response, 500, { error: String(error) })
  }
}

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    if (queue.length === 0) setImmediate(commit)
    queue.push({ id: randomUUID(), body: Buffer.concat(chunks).toString(), response })
  })
})

server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.once("disconnect", () => process.exit(0))
