/** Passes a WebSocket on to its upstream: the request that asks for it, and then the bytes of both directions, as they come. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Interruption } from "../calls/PassedCall.ts"
import type { Followed } from "./Followed.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"
import * as NodePassage from "./NodePassage.ts"
import {
  AnswerNotUnderstood,
  codeOf,
  endingOf,
  isUnderstood,
  KeyOver,
  ProxyClosing,
  type UpstreamClient
} from "./UpstreamClient.ts"
import { closing } from "./SocketFrames.ts"
import { UpstreamTimeout } from "./UpstreamAgents.ts"
import type { Closing, SocketRecorder } from "./SocketRecorder.ts"

export interface SocketRequest extends Omit<Followed, "copies"> {
  readonly message: IncomingMessage
  /** On the connection, for an answer that is no WebSocket. */
  readonly response: ServerResponse
  /** What the application has sent behind its request. */
  readonly head: Buffer
  /** Undefined where nothing is recorded. */
  readonly recorder: SocketRecorder | undefined
  readonly onUnanswered: (error: Error) => void
}

/** RFC 6455, section 7.4.1. */
const [goingAway, policyViolation] = [1001, 1008]

/** How long the end of a connection may take once the proxy ends it (ms). */
const endingMs = 1_000

/** Returns a function that ends it early, for the reason that the error says. */
export const pass = (client: UpstreamClient, request: SocketRequest): ((reason: Error) => void) => {
  const { destination, head, message, onEnd, onUnanswered, recorder, response } = request
  let joined: ReturnType<typeof join> | undefined
  let failure: Error | undefined
  let hasAnswer = false
  const end = () => onEnd(failure === undefined && hasAnswer ? undefined : endingOf(failure), hasAnswer)
  const fail = (error: Error) => {
    if (hasAnswer || failure !== undefined || response.destroyed) return
    failure = error
    onUnanswered(error)
  }
  const headers = ForwardedHeaders.ofUpgrade(message.rawHeaders, recorder !== undefined)
  const sent = client.begin({ ...destination, method: "GET", headers, isSocket: true })
  sent.on("error", fail)
  sent.once("close", () => {
    if (!hasAnswer) fail(new Error("The upstream did not answer"))
  })
  sent.once("response", (answer) => {
    if (!isUnderstood(answer)) return void sent.destroy(new AnswerNotUnderstood())
    hasAnswer = true
    const breakOff = (error: Error) => {
      failure ??= error
      response.destroy()
    }
    NodePassage.receive({ message, response, copies: undefined }, answer, breakOff, () => failure !== undefined)
  })
  const leave = () => {
    sent.destroy()
    end()
  }
  response.once("close", leave)
  const stopAwaiting = awaitEnd(response.socket as Socket, () => response.destroy())
  sent.once("upgrade", (answer, upstream: Socket, upstreamHead) => {
    hasAnswer = true
    response.off("close", leave)
    stopAwaiting()
    const socket = response.socket as Socket
    response.detachSocket(socket)
    socket.write(headOf(answer), "latin1")
    if (head.length > 0) socket.unshift(head)
    if (upstreamHead.length > 0) upstream.unshift(upstreamHead)
    joined = join(socket, upstream, recorder, client.idleTimeoutMs, (error) => {
      failure ??= error
      end()
    })
  })
  sent.end()
  return (reason) => {
    if (joined !== undefined) return joined(reason)
    fail(reason)
    if (hasAnswer && !response.writableFinished) {
      failure ??= reason
      response.destroy()
    }
    leave()
  }
}

/**
 * Calls back if the application goes before it is answered. A connection is to be read for that; what it has sent is left there. Returns
 * a function that ends it.
 */
const awaitEnd = (socket: Socket, onEnd: () => void): (() => void) => {
  const look = () => {
    if (socket.readableLength === 0) socket.read()
  }
  socket.on("readable", look).once("end", onEnd)
  return () => void socket.off("readable", look).off("end", onEnd)
}

/** The answer as it came, but for the headers of its own connection. */
const headOf = ({ rawHeaders, statusCode, statusMessage }: IncomingMessage): string => {
  const upgrade = ForwardedHeaders.valueOf(rawHeaders, "upgrade") ?? "websocket"
  const headers = [...ForwardedHeaders.ofResponse(rawHeaders, false), "Upgrade", upgrade, "Connection", "Upgrade"]
  const lines = ForwardedHeaders.pairs(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join("")}\r\n`
}

/** What ended the connection early, for the calls under way on it. */
const interruptionOf = (
  failure: Error | undefined,
  isEndedByClient: boolean,
  closedBy: Closing | undefined
): readonly [interruption: Interruption, failureCode: string | undefined] => {
  if (failure instanceof ProxyClosing || failure instanceof UpstreamTimeout) {
    const { code, interruption } = endingOf(failure)
    return [interruption, code]
  }
  if (closedBy?.isOfClient ?? isEndedByClient) return ["aborted", undefined]
  return ["connection_error", closedBy === undefined ? failure && codeOf(failure) : `CLOSE_${closedBy.code}`]
}

/**
 * Passes the bytes of both directions until both connections have ended. Neither is read faster than the other takes it. Returns a
 * function that ends both.
 */
const join = (
  client: Socket,
  upstream: Socket,
  recorder: SocketRecorder | undefined,
  idleTimeoutMs: number,
  onEnd: (failure: Error | undefined) => void
): ((reason: Error) => void) => {
  let failure: Error | undefined
  let isEndedByClient: boolean | undefined
  let isOver = false
  const finish = () => {
    if (isOver) return
    isOver = true
    recorder?.end(...interruptionOf(failure, isEndedByClient === true, recorder.closing))
    onEnd(failure)
  }
  const follow = (socket: Socket, other: Socket, isClient: boolean) => {
    socket.on("error", (error) => {
      if (!isClient) failure ??= error
    })
    socket.once("end", () => (isEndedByClient ??= isClient))
    socket.once("close", () => {
      isEndedByClient ??= isClient
      other.destroySoon()
      if (other.closed) finish()
    })
    socket.pipe(other)
    // Behind it: what is read has passed.
    const reader = isClient ? recorder?.client : recorder?.server
    if (reader !== undefined) socket.on("data", (chunk: Buffer) => reader.push(chunk))
  }
  const cut = (reason: Error) => {
    if (isOver) return
    failure ??= reason
    const code = reason instanceof KeyOver ? policyViolation : goingAway
    client.unpipe(upstream)
    upstream.unpipe(client)
    // A frame within another one would be part of its payload.
    const [canTellClient, canTellUpstream] = [recorder?.server.isBetweenFrames, recorder?.client.isBetweenFrames]
    close(client, canTellClient === true ? closing(code, false) : undefined)
    close(upstream, canTellUpstream === true ? closing(code, true) : undefined)
    finish()
  }
  for (const socket of [client, upstream]) {
    socket.setTimeout(idleTimeoutMs, () => cut(new UpstreamTimeout("Nothing passed for too long")))
  }
  follow(client, upstream, true)
  follow(upstream, client, false)
  // It may have ended before anybody listened.
  if (client.destroyed) upstream.destroy()
  return cut
}

/** Ends a connection, with a last frame if there is one. What it still has is written first, but not waited for without end. */
const close = (socket: Socket, frame: Buffer | undefined): void => {
  socket.resume()
  if (frame === undefined || socket.destroyed) return void socket.destroy()
  socket.write(frame)
  socket.destroySoon()
  setTimeout(() => socket.destroy(), endingMs).unref()
}
