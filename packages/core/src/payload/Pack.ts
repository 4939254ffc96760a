/**
 * A pack is what is stored of an event's payload: bytes that only this module reads. Storages keep them as they are.
 *
 * Format 1: the byte 1; the length of `inputs` in bytes, as four bytes, little-endian; `inputs`, then `output`, in UTF-8.
 * The first byte names the format, so that another can take its place and this one can still be read.
 */
import type { Payload } from "../domain/Event.ts"
import * as JsonText from "../domain/JsonText.ts"

const format = 1
const headerLength = 5

export interface Packed {
  readonly bytes: Uint8Array
  /** Bytes of UTF-8, as sent. */
  readonly inputsBytes: number
  readonly outputBytes: number
}

export const pack = ({ inputs, output }: Payload): Packed => {
  const inputsBytes = Buffer.byteLength(inputs)
  const outputBytes = Buffer.byteLength(output)
  const bytes = Buffer.allocUnsafe(headerLength + inputsBytes + outputBytes)
  bytes[0] = format
  bytes.writeUInt32LE(inputsBytes, 1)
  bytes.write(inputs, headerLength)
  bytes.write(output, headerLength + inputsBytes)
  return { bytes, inputsBytes, outputBytes }
}

export const unpack = (packed: Uint8Array): Payload => {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  if (bytes[0] !== format) throw new Error(`A pack of format ${bytes[0]}: expected ${format}. Is this store newer?`)
  const split = headerLength + bytes.readUInt32LE(1)
  return {
    inputs: JsonText.unsafe(bytes.toString("utf8", headerLength, split)),
    output: JsonText.unsafe(bytes.toString("utf8", split))
  }
}
