/** Frames of AWS as Bedrock sends them, with checksums of Node's own. */
import { crc32 } from "node:zlib"

const checksum = (bytes: Uint8Array): Buffer => {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}

const headerOf = ([name, value]: readonly [string, string | number]): Buffer => {
  const named = Buffer.concat([Buffer.from([name.length]), Buffer.from(name)])
  if (typeof value === "number") {
    const number = Buffer.alloc(5, 4)
    number.writeInt32BE(value, 1)
    return Buffer.concat([named, number])
  }
  const text = Buffer.from(value)
  const length = Buffer.alloc(3, 7)
  length.writeUInt16BE(text.length, 1)
  return Buffer.concat([named, length, text])
}

export const frame = (headers: Readonly<Record<string, string | number>>, payload: string): Buffer => {
  const head = Buffer.concat(Object.entries(headers).map(headerOf))
  const body = Buffer.from(payload)
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32BE(16 + head.length + body.length)
  lengths.writeUInt32BE(head.length, 4)
  const whole = Buffer.concat([lengths, checksum(lengths), head, body])
  return Buffer.concat([whole, checksum(whole)])
}

/** An event of Converse. */
export const eventFrame = (type: string, payload: object): Buffer =>
  frame(
    { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
    JSON.stringify({ ...payload, p: "abcdef" })
  )

/** A model's own event. */
export const chunkFrame = (event: object): Buffer =>
  eventFrame("chunk", { bytes: Buffer.from(JSON.stringify(event)).toString("base64") })

export const exceptionFrame = (type: string, message: string): Buffer =>
  frame(
    { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception", ":n": 1 },
    JSON.stringify({ message })
  )
