/**
 * Memory of buffers, which is outside the heap of V8: it counts little there, and is freed when V8 next collects garbage. Reading
 * a large event would leave several times its size.
 */
import { Buffer } from "node:buffer"

/** Smaller buffers are left to V8 (bytes). They may be parts of a pool. */
const minFreedBytes = 128 * 1024

const canFree = (memory: ArrayBufferLike): memory is ArrayBuffer =>
  memory instanceof ArrayBuffer && memory.byteLength >= minFreedBytes && memory.byteLength > Buffer.poolSize

/** Frees the whole memory that these bytes are in, at once. All views of it are empty afterwards. */
export const free = ({ buffer }: Uint8Array): void => {
  if (canFree(buffer)) buffer.transfer(0)
}

const bytesOf = (parts: ReadonlyArray<Uint8Array>): number => parts.reduce((sum, { length }) => sum + length, 0)

/** Copies of the parts, together in a memory of their own. */
export const copyOf = (parts: ReadonlyArray<Uint8Array>): ReadonlyArray<Buffer> => {
  const memory = Buffer.allocUnsafeSlow(bytesOf(parts))
  let at = 0
  return parts.map((part) => {
    memory.set(part, at)
    return memory.subarray(at, (at += part.length))
  })
}

/** The parts, or copies of them where their memory has more than as much again: one of a pool would be kept with them. */
export const withoutRest = (parts: ReadonlyArray<Buffer>): ReadonlyArray<Buffer> => {
  const memory = parts[0]?.buffer
  const isAlone = parts.every(({ buffer }) => buffer === memory) && (memory?.byteLength ?? 0) <= 2 * bytesOf(parts)
  return isAlone ? parts : copyOf(parts)
}

/** Whether `free` would free these bytes. They may be few in a large memory: what is unpacked has some bytes more than its text. */
export const isFreeable = ({ buffer }: Uint8Array): boolean => canFree(buffer)

/** The same for bytes that are alone in their memory. Others are left alone. */
export const freeAlone = (bytes: Uint8Array): void => {
  if (bytes.byteLength === bytes.buffer.byteLength) free(bytes)
}

/** Whether `freeAlone` frees bytes of this length, if they are alone in their memory. */
export const isLarge = ({ byteLength }: Uint8Array): boolean => byteLength >= minFreedBytes
