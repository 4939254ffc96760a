/**
 * The text of a key: `tg_`, 27 base62 digits from a CSPRNG (160.7 bits), and a checksum of six base62 digits, which detects
 * typing errors without a look-up. The checksum is the CRC-32 of the text before it, and not a secret.
 */
import { randomBytes } from "node:crypto"
import { crc32 } from "node:zlib"

const prefix = "tg_"
const secretLength = 27
const checksumLength = 6
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const pattern = /^tg_[0-9A-Za-z]{33}$/

/** Uniformly distributed: bytes at or above 248, the largest multiple of 62, are discarded. */
export const randomBase62 = (length: number): string => {
  let text = ""
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

const checksum = (text: string): string => {
  let remainder = crc32(text)
  let digits = ""
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet[remainder % 62] + digits
    remainder = Math.floor(remainder / 62)
  }
  return digits
}

export const generate = (): string => {
  const body = prefix + randomBase62(secretLength)
  return body + checksum(body)
}

/** Whether a text has the format and checksum of a key. */
export const isWellFormed = (text: string): boolean =>
  pattern.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength)
