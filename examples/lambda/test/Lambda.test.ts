/** Runs the deployed bundle in a separate process over a real PostgreSQL. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda"
import { type ChildProcess, fork } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, inject, it } from "vitest"
import { bundleInto, sizes } from "../scripts/bundle.ts"

const key = "a key of the example's own"
const runtime = fileURLToPath(new URL("../scripts/runtime.mjs", import.meta.url))
const outdir = mkdtempSync(join(tmpdir(), "tachograph-"))
let child: ChildProcess

beforeAll(async () => {
  await bundleInto(outdir)
  const storage = new URL(inject("postgresUrl"))
  storage.searchParams.set("schema", `test_${randomBytes(8).toString("hex")}`)
  storage.searchParams.set("pool_size", "2")
  child = fork(runtime, [join(outdir, "handler.mjs")], {
    env: { ...process.env, TACHOGRAPH_STORAGE: storage.href, TACHOGRAPH_API_KEY: key }
  })
  await once(child, "message")
})

afterAll(() => {
  child?.kill("SIGKILL")
  rmSync(outdir, { recursive: true })
})

const call = async (method: string, path: string, body?: object): Promise<APIGatewayProxyStructuredResultV2> => {
  const event: Partial<APIGatewayProxyEventV2> = {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: "",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    requestContext: {
      accountId: "123456789012",
      apiId: "a1b2c3",
      domainName: "a1b2c3.lambda-url.eu-west-1.on.aws",
      domainPrefix: "a1b2c3",
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "test" },
      requestId: "r",
      routeKey: "$default",
      stage: "$default",
      time: "21/Nov/2026:12:00:00 +0000",
      timeEpoch: 1_795_262_400_000
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    isBase64Encoded: false
  }
  child.send(event)
  const [result] = await once(child, "message")
  return result
}

it("records an event and reads it back", async () => {
  const fingerprint = await call("PUT", "/api/v1/fingerprints", {
    language: "x",
    language_version: "1",
    system: "linux"
  })
  expect(fingerprint.statusCode).toBe(200)
  const recorded = await call("POST", "/api/v1/events", {
    event_name: "llm",
    ...JSON.parse(fingerprint.body!),
    session: "s1",
    properties: { api: "anthropic-messages", inputs: { model: "m" }, output: { role: "assistant" } }
  })
  expect(recorded.statusCode).toBe(200)
  const read = await call("GET", `/api/v1/events/${JSON.parse(recorded.body!).event_id}`)
  expect(JSON.parse(read.body!)).toMatchObject({ session: "s1", properties: { inputs: { model: "m" } } })
})

it("the documentation page is in a separate file, which a start does not read", async () => {
  const docs = await call("GET", "/docs")
  expect([docs.statusCode, docs.headers!["content-type"]]).toEqual([200, "text/html; charset=utf-8"])
  const handler = sizes(outdir).find(({ name }) => name === "handler.mjs")!
  expect(docs.body!.length).toBeGreaterThan(handler.size)
})

it("exits with 0 on SIGTERM", async () => {
  child.kill("SIGTERM")
  expect(await once(child, "exit")).toEqual([0, null])
})
