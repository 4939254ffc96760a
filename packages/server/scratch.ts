import { createTachograph } from "@tachograph/router"
import { MemoryStorage } from "@tachograph/core"
import { readFileSync } from "node:fs"
const key = "x".repeat(24)
const t = await createTachograph({ storage: MemoryStorage.layer, apiKeys: [key] })
const call = (method: string, path: string, body?: any, headers: any = {}) => t.fetch(new Request("http://x" + path, { method, body, headers: { authorization: "Bearer " + key, "content-type": "application/json", ...headers } }))
const oracle = JSON.parse(readFileSync("/work/shared/oracle/validation.json", "utf8"))
await call("PUT", "/api/v1/agents", '{"agent_name":"bot"}')
await call("PUT", "/api/v1/people", '{"person_id":"p1"}')
let bad = 0
for (const c of oracle) {
  const r = await call(c.method, c.path, c.body, { "content-type": c.content_type })
  const text = await r.text()
  let ok = r.status === c.expect.status
  if (c.expect.status === 200) { ok = r.status === 200 || r.status === 404 && text.includes("fingerprint-not-found") }
  else if (ok) {
    const got = JSON.parse(text).detail, want = c.expect.body.detail
    const norm = (d: any) => d.map((x: any) => x.type === "json_invalid" ? { type: x.type, msg: x.msg, l: x.loc[0] } : x)
    const sort = (x: any): any => Array.isArray(x) ? x.map(sort) : x && typeof x === "object" ? Object.fromEntries(Object.keys(x).sort().map(k => [k, sort(x[k])])) : x
    ok = JSON.stringify(sort(norm(got))) === JSON.stringify(sort(norm(want)))
  }
  if (!ok && bad++ < 8) console.log("BAD", c.name, r.status, text.slice(0, 600), "WANT", c.expect.status, JSON.stringify(c.expect.body)?.slice(0, 600))
}
console.log("bad", bad, "of", oracle.length)
for (const [m, p] of [["GET", "/health"], ["GET", "/ready"], ["POST", "/health"], ["GET", "/nope"], ["HEAD", "/health"], ["GET", "/metrics"], ["GET", "/api/v1/events?limit=0&order=x"], ["GET", "/api/v1/agents/a;b"], ["PUT", "/api/v1/agents/%00/agent-versions"]] as const) {
  const r = await call(m, p, m === "PUT" ? "{}" : undefined); console.log(m, p, r.status, JSON.stringify(Object.fromEntries(r.headers)), (await r.text()).slice(0, 300))
}
console.log((await t.fetch(new Request("http://x/api/v1/agents/x"))).status)
await t.close()
