/** WebSockets that come to the proxy: judged as requests are, passed on, and recorded where they carry calls. */
import { recognise } from "@tachograph/capture"
import { InFlightSet, type Principal } from "@tachograph/core"
import * as Redacted from "effect/Redacted"
import { type IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { KeyWatch } from "../front/KeyWatch.ts"
import * as Node from "../mounts/Node.ts"
import type { Answer } from "../response/Answer.ts"
import type { CopiedCall } from "./CallRecorder.ts"
import type { OpenPassages } from "./OpenPassages.ts"
import type * as ForwardedHeaders from "./ForwardedHeaders.ts"
import type * as Gate from "./Gate.ts"
import * as NodePassage from "./NodePassage.ts"
import * as ProxyErrors from "./ProxyErrors.ts"
import type { ProxyMetrics } from "./ProxyMetrics.ts"
import * as SocketPassage from "./SocketPassage.ts"
import { SocketRecorder, type SocketRecording } from "./SocketRecorder.ts"
import { KeyOver, ProxyClosing, type UpstreamClient } from "./UpstreamClient.ts"

export interface Surroundings extends Omit<SocketRecording, "begin"> {
  readonly client: UpstreamClient
  readonly passages: OpenPassages
  readonly metrics: ProxyMetrics
  readonly watchKey: KeyWatch["watchKey"]
  readonly visitorOf: (message: IncomingMessage) => Gate.Visitor
  /** Undefined if the path is not one of the proxy. */
  readonly destinationOf: (visitor: Gate.Visitor, target: string) => Gate.Destination | Answer | undefined
  readonly admit: (visitor: Gate.Visitor, resume: (result: Principal | Answer | undefined, id?: string) => void) => void
  readonly refused: (answer: Answer, id?: string) => Answer
  readonly unanswered: (error: Error, destination: Gate.Destination) => Answer
  readonly begin: (
    destination: Gate.Destination,
    headers: ForwardedHeaders.RawHeaders,
    project: Principal["project"]
  ) => CopiedCall
  /** Counts a WebSocket that passes and is not recorded. */
  readonly countUnrecorded: (destination: Gate.Destination) => void
}

/** An open connection. */
interface Open {
  readonly recorder: SocketRecorder | undefined
  readonly end: (reason: Error) => void
}

/** An answer on a connection that `node:http` has let go of. It is the last one. */
const responseOn = (message: IncomingMessage, socket: Duplex): ServerResponse => {
  const response = new ServerResponse(message)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Socket)
  // What comes after it is no request any more.
  response.once("finish", () => (socket as Socket).destroySoon())
  socket.on("drain", () => {
    if (response.writableNeedDrain) response.emit("drain")
  })
  return response
}

export const make = (around: Surroundings) => {
  const { admit, passages, destinationOf, refused, unanswered, visitorOf } = around
  const open = new InFlightSet<Open>()
  let isRetiring = false

  const retire = ({ end, recorder }: Open): void => {
    if (recorder?.isIdle === true) end(new ProxyClosing())
  }

  const recorderOf = (
    destination: Gate.Destination,
    headers: ForwardedHeaders.RawHeaders,
    { project }: Principal,
    onIdle: () => void
  ): SocketRecorder | undefined => {
    if (recognise(destination.rest) === "provider1-responses") {
      return new SocketRecorder({ ...around, begin: () => around.begin(destination, headers, project) }, onIdle)
    }
    around.countUnrecorded(destination)
    return undefined
  }

  const pass = (
    visitor: Gate.Visitor,
    destination: Gate.Destination,
    principal: Principal,
    { head, message, response }: Pick<SocketPassage.SocketRequest, "head" | "message" | "response">
  ): void => {
    const onIdle = () => {
      // The frame that ends the call may be followed by the beginning of another one, which has passed as well.
      if (isRetiring) setImmediate(() => retire(connection))
    }
    const recorder = recorderOf(destination, message.rawHeaders, principal, onIdle)
    const stops: Array<() => void> = []
    let hasEnded = false
    const onEnd: SocketPassage.SocketRequest["onEnd"] = (ending, isAnswered) => {
      if (hasEnded) return
      hasEnded = true
      for (const stop of stops) stop()
      if (isAnswered) around.metrics.count(ending === undefined ? "passed" : "cut")
    }
    const onUnanswered = (error: Error) => Node.write(response, unanswered(error, destination))
    const end = SocketPassage.pass(around.client, {
      message,
      response,
      head,
      destination,
      recorder,
      onEnd,
      onUnanswered
    })
    const connection: Open = { recorder, end }
    if (hasEnded) return
    stops.push(
      open.add(connection),
      passages.add(() => end(new ProxyClosing()))
    )
    const key = visitor.headers["x-tachograph-key"] ?? ""
    if (key !== "") stops.push(around.watchKey(Redacted.make(key), () => end(new KeyOver())))
  }

  return {
    upgrade: (message: IncomingMessage, socket: Duplex, head: Buffer): boolean => {
      const visitor = visitorOf(message)
      const destination = destinationOf(visitor, message.url!)
      if (destination === undefined) return false
      // Node has no listener on it any more.
      socket.on("error", () => socket.destroy())
      const response = responseOn(message, socket)
      const refuse = (answer: Answer, id?: string) => {
        socket.resume()
        Node.write(response, refused(answer, id))
      }
      if ("status" in destination) refuse(destination)
      // Its body would be read as frames.
      else if (NodePassage.hasBody(message)) refuse(ProxyErrors.ambiguous)
      else {
        admit(visitor, (principal, id) => {
          if (response.closed) return
          if (principal === undefined || passages.isCut || isRetiring) return refuse(ProxyErrors.closing)
          if ("status" in principal) return refuse(principal, id)
          pass(visitor, destination, principal, { message, response, head })
        })
      }
      return true
    },
    /** Ends each connection once no call is under way on it. What is not recorded goes on until it is cut. */
    retire: () => {
      isRetiring = true
      for (const connection of open.values()) retire(connection)
    }
  }
}
