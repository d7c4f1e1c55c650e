package com.acme;

/** An invoice for one order. */
public class Invoice {
    private final String customerName;
    private double amount;

    public Invoice(String customerName, double amount) {
        this.customerName = customerName;
        this.amount = amount;
    }

    /** Adds the value added tax. */
    public double addValueAddedTax(double rate) {
        amount = amount * (1 + rate);
        return amount;
    }

    public String getCustomerName() {
        return customerName;
    }
}
