/** A growing column of numbers, 8 bytes each. */
export class GrowingColumn {
  private values = new Float64Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Float64Array(this.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  last(): number | undefined {
    return this.length === 0 ? undefined : this.values[this.length - 1];
  }

  /** A view of the pushed numbers, valid until the next push. */
  toArray(): Float64Array {
    return this.values.subarray(0, this.length);
  }
}
