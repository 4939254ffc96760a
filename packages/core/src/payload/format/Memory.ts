/**
 * Memory of buffers, which is outside the heap of V8: it counts little there, and is freed when V8 next collects garbage. Reading
 * a large event would leave several times its size.
 */
import { Buffer } from "node:buffer"

/** Smaller buffers are left to V8 (bytes). They may be parts of a pool. */
const minFreedBytes = 128 * 1024

/** Frees the whole memory that these bytes are in, at once. All views of it are empty afterwards. */
export const free = ({ buffer }: Uint8Array): void => {
  if (!(buffer instanceof ArrayBuffer)) return
  if (buffer.byteLength >= minFreedBytes && buffer.byteLength > Buffer.poolSize) buffer.transfer(0)
}

/** The same for bytes that are alone in their memory. Others are left alone. */
export const freeAlone = (bytes: Uint8Array): void => {
  if (bytes.byteLength === bytes.buffer.byteLength) free(bytes)
}

/** Whether `free` frees bytes that are alone in their memory. */
export const isFreed = ({ byteLength }: Uint8Array): boolean => byteLength >= minFreedBytes
