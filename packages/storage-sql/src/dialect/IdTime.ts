/** What follows the time in the smallest id of a millisecond. */
export const afterTime = "70008000000000000000"
