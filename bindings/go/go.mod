module netkit/bindings/go

go 1.19
