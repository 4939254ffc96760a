const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]

/** `512 B`, `1.5 KiB`. */
export const format = (count: number): string => {
  let value = count
  let unit = 0
  // 1023.95 and more would be rounded to 1024.0: use the next unit.
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}
