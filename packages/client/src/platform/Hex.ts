const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

interface WithBuffer {
  readonly Buffer?: {
    readonly from: (...of: [ArrayBufferLike, number, number]) => { toString: (encoding: "hex") => string }
  }
}

/** Two hexadecimal digits for each byte. For many bytes, the function of Node takes a hundredth of the time. */
export const hexOf = (bytes: Uint8Array): string => {
  const { buffer, byteLength, byteOffset } = bytes
  const { Buffer } = globalThis as WithBuffer
  return (
    Buffer?.from(buffer, byteOffset, byteLength).toString("hex") ?? Array.from(bytes, (byte) => digits[byte]).join("")
  )
}
