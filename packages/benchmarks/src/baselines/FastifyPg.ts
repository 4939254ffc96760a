/** `FastifyPg.ts URL SCHEMA`: the obvious implementation, one INSERT of the body as jsonb per request. */
import Fastify from "fastify"
import { randomUUID } from "node:crypto"
import pg from "pg"

const [url = "", schema = ""] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: url, max: 10, options: `-c search_path=${schema}` })
await pool.query(`
  CREATE SCHEMA ${schema};
  CREATE TABLE events (
    id uuid PRIMARY KEY,
    received_at timestamptz NOT NULL DEFAULT now(),
    session text NOT NULL,
    body jsonb NOT NULL
  );
  CREATE INDEX events_by_session ON events (session);
`)

const app = Fastify({ bodyLimit: 512 * 1024 * 1024 })

app.post<{ Body: { readonly session: string } }>("/api/v1/events", async ({ body }) => {
  const id = randomUUID()
  await pool.query("INSERT INTO events (id, session, body) VALUES ($1, $2, $3)", [id, body.session, body])
  return { event_id: id }
})

process.send?.({ url: await app.listen({ host: "127.0.0.1", port: 0 }) })
process.once("disconnect", () => process.exit(0))
