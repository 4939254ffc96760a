import { HttpClient } from "@tachograph/testkit"
import { Cause, Effect, Exit } from "effect"
import express, { type RequestHandler } from "express"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { IncomingMessage } from "node:http"
import { connect, Socket } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { expect, it, onTestFinished } from "vitest"
import { AdmissionControl, defaultCommitLimits } from "@tachograph/core"
import { BodyCollector } from "../../src/front/BodyCollector.ts"
import * as NodeBody from "../../src/front/NodeBody.ts"
import { apiKey, event, fingerprint, opened } from "../Samples.ts"
import { served } from "../Served.ts"

/** Decoding a compressed body as text damages it. */
const changes: ReadonlyArray<readonly [string, RequestHandler, compressed: number]> = [
  ["paused", (request, _response, next) => void (request.pause(), next()), 200],
  ["set to an encoding", (request, _response, next) => void (request.setEncoding("utf8"), next()), 422]
]

it.each(changes)("reads a request that the host has %s, but not read", async (_, change, expected) => {
  const tachograph = await opened({ maxBody: 1_000, maxOtherBody: 1_000 })
  const id = await tachograph.fingerprint(fingerprint)
  const client = HttpClient.make(await served(express().use(change, tachograph.node)), apiKey)
  expect((await client.put("/api/v1/agents", { agent_name: "é😀" })).body.agent_name).toBe("é😀")
  const recorded = await client.post("/api/v1/events", event(id, { person: "é😀" }))
  expect((await tachograph.api.getEvent({ event_id: recorded.body.event_id })).person).toBe("é😀")
  expect((await client.put("/api/v1/agents", { agent_name: "x".repeat(1_000) })).status).toBe(413)
  const compressed = gzipSync(JSON.stringify({ agent_name: "x" }))
  const decompressed = await client.call("PUT", "/api/v1/agents", compressed, { "content-encoding": "gzip" })
  expect(decompressed.status).toBe(expected)
})

it("stops waiting for the body when the client has disconnected", async () => {
  const permit = new AdmissionControl(defaultCommitLimits, () => Infinity).permit()
  const message = new IncomingMessage(new Socket())
  message.destroy()
  await new Promise((done) => message.once("close", done))
  const exit = await Effect.runPromiseExit(NodeBody.collect(message, new BodyCollector(1_000, permit)))
  expect(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)).toBe(true)
})

it("refuses a compressed body when it is too large, not when its client sends on", async () => {
  const tachograph = await opened({ maxOtherBody: 50_000 })
  const { port } = await served(tachograph.node)
  const body = gzipSync(randomBytes(30_000).toString("hex"))
  const socket = connect(port, "127.0.0.1")
  onTestFinished(() => void socket.destroy())
  const lines = ["PUT /api/v1/agents HTTP/1.1", "host: x", `authorization: Bearer ${apiKey}`, "content-encoding: gzip"]
  const head = [...lines, `content-length: ${body.length + 1}`, "", ""].join("\r\n")
  socket.write(Buffer.concat([Buffer.from(head), body]))
  const [answer] = (await once(socket, "data")) as [Buffer]
  expect(answer.toString("latin1")).toMatch(/^HTTP\/1\.1 413 /)
})

it("holds nothing of a body that is refused while its client stays", async () => {
  setFlagsFromString("--expose-gc")
  const collectGarbage = runInNewContext("gc") as () => void
  const message = new IncomingMessage(new Socket())
  const refuse = async () => {
    const permit = new AdmissionControl(defaultCommitLimits, () => Infinity).permit()
    const collector = new BodyCollector(1_000, permit)
    const exit = Effect.runPromiseExit(NodeBody.collect(message, collector))
    message.push(Buffer.alloc(600))
    message.push(Buffer.alloc(600))
    expect(Exit.isFailure(await exit)).toBe(true)
    return new WeakRef(collector)
  }
  const held = await refuse()
  // What was looked at weakly is held until the end of the turn.
  await new Promise((resolve) => setTimeout(resolve, 0))
  collectGarbage()
  expect([held.deref(), message.destroyed]).toEqual([undefined, false])
})
