/** JSON with the field names of the HTTP API: `sentBytes` becomes `sent_bytes`. */
export const format = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(
          Object.entries(part).map(([key, field]) => [
            key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
            field
          ])
        )
      : part
  )
